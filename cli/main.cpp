// The tidemark command.
#include "program.h"

int main(int argc, char** argv) { return tidemark::cli::run_program(argc, argv); }
