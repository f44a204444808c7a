// covers: pkey_alloc pkey_free
// native: skip whether there are protection keys depends on the CPU
// expect: pkeys_absent.out
#include "emulated.h"

int main(void)
{
    T(pkey_alloc, 0, 0);
    T(pkey_alloc, 1, 0);
    T(pkey_free, 5);
    return 0;
}
