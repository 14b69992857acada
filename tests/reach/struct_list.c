//@ command = "nearmiss reach struct_list.c:10 --function f --null list"
//@ verdict = "reached"
struct node { int value; struct node *next; };
int f(struct node *list)
{
    int sum = 0, n = 0;
    for (; list && n < 4; list = list->next, n++)
        sum += list->value;
    if (n == 2 && sum == 1000000)
        return 1;
    return 0;
}
