//@ command = "nearmiss explore stub_writes.c --function first_of --stub fetch=writes --range fetch()=0..1 --size fetch().argument2=2"
//@ paths = 4
// The stub behind the pointer writes two numbers for its caller.
struct message {
    char kind;
    short numbers[2];
};

int first_of(int (*fetch)(int, struct message *), int from)
{
    struct message m[2];
    if (!fetch(from, m))
        return -1;
    if (m[1].kind != 'n')
        return -2;
    if (m[0].numbers[1] > m[1].numbers[0])
        return m[0].numbers[1];
    return m[1].numbers[0];
}
