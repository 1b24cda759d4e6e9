#include "property/properties.h"
namespace tidemark::test {
std::vector<Property> scopes_properties() { return {}; }
}
