/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variables of C++ whose names and sizes test_symbols.c knows: in namespaces, in classes,
 * in templates, in methods. */
namespace geo
{
struct Point {
    static int made;
    static double grid[16];
    static int next()
    {
        static int serial[3];
        return ++serial[1];
    }
    int moved();
};
int Point::made = 3;
double Point::grid[16];

__attribute__((noinline)) int Point::moved()
{
    static int moves[6];
    return ++moves[2];
}

namespace
{
int hidden[5] = {1};
}

int peek(int i)
{
    return hidden[i]++;
}
} // namespace geo

template <class T> struct Pool {
    static T slots[8];
};
template <class T> T Pool<T>::slots[8];

struct Shape {
    virtual ~Shape()
    {
    }
    virtual int corners()
    {
        return 0;
    }
};
Shape *shape;

int main(int argc, char **)
{
    shape = new Shape;
    geo::Point point;
    return geo::Point::made + (int)geo::Point::grid[argc] + geo::Point::next() +
           point.moved() + geo::peek(argc) + Pool<int>::slots[argc] +
           Pool<char>::slots[argc] + shape->corners();
}
