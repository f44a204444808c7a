#include <stdio.h>
#include "mix.h"
__attribute__((noinline)) static unsigned work(unsigned n) {
  unsigned s = 0;
  for (unsigned i = 0; i < n; i++) {
    s = mix(s + i);
    if (s & 1)
      s = rot(s);
  }
  return s;
}
int main(int argc, char **argv) {
  printf("%u %u\n", work(1000 * argc), mix(argc));
  return 0;
}
