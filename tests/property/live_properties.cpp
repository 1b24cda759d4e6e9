#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> live_properties() { return {}; }
}
