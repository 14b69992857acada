//@ command = "nearmiss explore old_values.c --function step --oracle check_step --size counter=1 --range counter=0..9"
//@ paths = 2
//@ verdicts = { pass = 2 }
int step(int *counter)
{
    if (*counter > 5)
        *counter -= 2;
    else
        *counter += 1;
    return *counter;
}

int check_step(const int *counter, int result, const int *old_counter)
{
    return result == *counter && (*counter == *old_counter + 1 || *counter == *old_counter - 2);
}
