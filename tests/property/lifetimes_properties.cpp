#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> lifetimes_properties() { return {}; }
}
