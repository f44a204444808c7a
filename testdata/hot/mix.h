static inline unsigned rot(unsigned x) { return x << 5 | x >> 27; }
static inline unsigned mix(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; return rot(x) ^ x >> 15; }
