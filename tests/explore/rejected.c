//@ command = "nearmiss explore rejected.c --function absolute --oracle check_absolute --range number=-100..100"
//@ paths = 3
//@ verdicts = { pass = 2, fail = 1 }
int absolute(int number)
{
    if (number < -50)
        return number + 201;
    if (number < 0)
        return -number;
    return number;
}

int check_absolute(int number, int result)
{
    return result == number || result == -number;
}
