// The tidemark command.
#include "tidemark/cli/program.h"

int main(int argc, char** argv) { return tidemark::cli::run_program(argc, argv); }
