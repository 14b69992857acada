//@ command = "nearmiss reach null_member.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`b`, `b->data` are never NULL"
struct box { int *data; int n; };
int f(struct box *b)
{
    if (b->data == 0)
        return 1;
    return b->n;
}
