//@ command = "nearmiss explore error_incomplete.c --function f"
//@ error = ["handle", "struct hidden"]
struct hidden;
int peek(struct hidden *);

int f(struct hidden *handle)
{
    return peek(handle);
}
