//@ command = "nearmiss reach alias_of_members.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "`s->b` never points into `s->a`"
struct pair { int *a; int *b; };
int f(struct pair *s)
{
    *s->a = 1; *s->b = 2;
    if (*s->a == 2)
        return 1;
    return 0;
}
