/* noop - does nothing, and ends as a hook that lets its call go on. Static, as the hook is: the floor of a hook call. */
int main(void)
{
    return 42;
}
