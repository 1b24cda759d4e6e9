#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> peak_properties() { return {}; }
}
