//@ command = "nearmiss explore bit_fields.c --function classify"
//@ paths = 3
struct flags {
    unsigned ready : 1, level : 3;
    int : 0;
    int offset : 5;
};

int classify(struct flags flags)
{
    if (!flags.ready)
        return 0;
    if ((int)flags.level + flags.offset > 20)
        return 2;
    return 1;
}
