//@ command = "nearmiss explore structure_pointer.c --function take"
//@ paths = 3
// An array and a count inside a structure that is pointed to; changes are seen by the oracle too.
struct stack {
    unsigned char count;
    int items[3];
};

int take(struct stack *stack)
{
    if (stack->count == 0)
        return -1;
    if (stack->count > 3)
        return -2;
    return stack->items[--stack->count];
}
