//@ command = "nearmiss reach one_element.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`p` points to one element"
struct s { int x; };
int f(struct s *p)
{
    if (p[1].x == 5)
        return 1;
    return 0;
}
