// As leave.S, but the thread sends its process a signal that ends it.
#define KILLED
#include "leave.S"
