//@ command = "nearmiss reach declaration.c:7 --function f --when 'x < 0 && \"unused\"[0]'"
//@ verdict = "reached"
//@ runs = 3
int f(int a)
{
    int x = a - 5;
    int y = x * 2;
    switch (a) {
    case 3:
        return y;
    default:
        return x;
    }
}
