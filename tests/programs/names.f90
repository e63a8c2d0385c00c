! SPDX-License-Identifier: BSD-3-Clause
!
! Objects of Fortran, for record-names.sh: a named common block, the one without a name,
! a variable of a module and an array that is allocated.
module fields
    real(8) :: pressure(4096)
end module

subroutine sweep(n, values, total)
    integer, intent(in) :: n
    real(8), intent(in) :: values(n)
    real(8), intent(inout) :: total
    integer :: i
    do i = 1, n
        total = total + values(i)
    end do
end subroutine

program names
    use fields
    real(8), allocatable :: cells(:)
    real(8) :: total = 0, heat(8192), loose(2048)
    common /physics/ heat
    common loose
    allocate (cells(16384))
    cells = 1
    heat = 2
    loose = 3
    pressure = 4
    call sweep(16384, cells, total)
    call sweep(8192, heat, total)
    call sweep(2048, loose, total)
    call sweep(4096, pressure, total)
    print '(f10.1)', total
    deallocate (cells)
end program
