// The public header as a C++ program sees it; only compiled.
#include "weir-state.h"
int main() { return weir_state_abi() == WEIR_STATE_ABI ? 0 : 1; }
