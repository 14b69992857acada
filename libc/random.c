/* Models of arc4random and its relatives, which newer C libraries and libbsd have: captured, or
 * replaced by what was captured (crates/rt/src/chance.rs).
 *
 * In a file of its own: it needs the real functions, and must be linked only into programs that
 * would not be linked without them either. Compiled by plain clang: nothing here moves labels.
 */
#include <stddef.h>
#include <stdint.h>

extern uint32_t arc4random(void);
extern void arc4random_buf(void *to, size_t size);
extern uint32_t arc4random_uniform(uint32_t bound);

void __nm_chance_random(const char *name, void *to, size_t size);

#pragma GCC visibility push(hidden)

uint32_t __nm_model_arc4random(void)
{
    uint32_t number = arc4random();
    __nm_chance_random("arc4random", &number, sizeof number);
    return number;
}

void __nm_model_arc4random_buf(void *to, size_t size)
{
    arc4random_buf(to, size);
    __nm_chance_random("arc4random", to, size);
}

/* Captured as a number below `bound`; another path may ask for one below another bound. */
uint32_t __nm_model_arc4random_uniform(uint32_t bound)
{
    uint32_t number = arc4random_uniform(bound);
    __nm_chance_random("arc4random_uniform", &number, sizeof number);
    return bound < 2 ? 0 : number % bound;
}
