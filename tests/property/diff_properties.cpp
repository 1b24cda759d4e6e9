#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> diff_properties() { return {}; }
}
