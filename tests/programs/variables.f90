! SPDX-License-Identifier: BSD-3-Clause
!
! Variables of Fortran whose names and sizes test_symbols.c knows: of a module, of two
! common blocks, one of them without a name, and of a subroutine. The two units see the
! named block in different ways.
module mesh
    real :: points(100)
    integer, save :: count = 3
end module

subroutine step
    use mesh
    common /blk/ a(10), b, n, rest(50)
    common c(4), d
    real, save :: local(8)
    local(1) = local(1) + a(1) + b + rest(2)
    d = n + c(1)
    points(n) = b + local(1)
end subroutine

program variables
    use mesh
    common /blk/ a(10), b, n, others(50)
    b = 1
    n = 2
    call step
    print *, points(2), count
end program
