#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> timeline_properties() { return {}; }
}
