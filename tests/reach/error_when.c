//@ command = "nearmiss reach error_when.c:6 --function f --when 'sise < 0'"
//@ error = ["does not compile", "--when:1:1", "sise", "size"]
int f(int a)
{
    int size = a - 5;
    return size;
}
