//@ command = "nearmiss reach union_of_pointer.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`v.p` is what its union holds"
union v { int *p; long n; };
int f(union v v)
{
    if (v.n == 5)
        return 1;
    return 0;
}
