// As leave.S, but the thread executes another program.
#define EXECUTED
#include "leave.S"
