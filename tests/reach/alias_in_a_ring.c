//@ command = "nearmiss reach alias_in_a_ring.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`n->next` never points into `n`"
struct node { struct node *next; int v; };
int f(struct node *n)
{
    if (n->next == n)
        return 1;
    return 0;
}
