//@ command = "nearmiss reach alias_of_elements.c:10 --function f --size rows=2"
//@ verdict = "infeasible"
//@ assumed = "no two of `rows[].cells` point into the same memory"
struct row { int n; int *cells; };
int f(struct row *rows)
{
    rows[0].cells[0] = 4;
    rows[1].cells[0] = 5;
    if (rows[0].cells[0] == 5)
        return 1;
    return 0;
}
