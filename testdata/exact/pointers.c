// covers: indirect-call call-reg call-mem
// Calls through arrays and structures of function pointers, regular and not.
#include "rt.h"

#define F(name, expression) \
    __attribute__((noinline)) static u64 name(u64 x) { return expression; }
F(twice, x * 2)
F(half, x / 2)
F(negated, -x)
F(plus, x + kept)
F(hashed, x * 0x9e3779b97f4a7c15ul)

typedef u64 (*function)(u64);
static function all[] = {twice, half, negated, plus, hashed};
static struct object {
    u64 value;
    function act;
} objects[37];

static int run(void)
{
    u64 x = 1;
    for (u64 i = 0; i < 37; i++)
        objects[i] = (struct object){rnd(), all[rnd() % 5]};
    for (u64 round = 0; round < 40; round++) {
        for (u64 i = 0; i < 37; i++)
            x += objects[i].act(objects[i].value + x);
        x = all[round % 5](x);
        x = all[rnd() % 5](x);
    }
    return (int)x;
}
