! SPDX-License-Identifier: BSD-3-Clause
!
! In the manner of swim: finite differences of the shallow water equations. Fourteen arrays
! of the same size, of which each step goes through several at a time.
module water
  implicit none
  integer, parameter :: n = 512, steps = 30
  real(8) :: u(n + 1, n + 1), v(n + 1, n + 1), p(n + 1, n + 1)
  real(8) :: unew(n + 1, n + 1), vnew(n + 1, n + 1), pnew(n + 1, n + 1)
  real(8) :: uold(n + 1, n + 1), vold(n + 1, n + 1), pold(n + 1, n + 1)
  real(8) :: cu(n + 1, n + 1), cv(n + 1, n + 1), z(n + 1, n + 1), h(n + 1, n + 1)
  real(8) :: psi(n + 1, n + 1)
contains
  subroutine begin
    integer :: i, j
    do j = 1, n + 1
      do i = 1, n + 1
        psi(i, j) = sin(0.01d0 * i) * sin(0.013d0 * j)
        p(i, j) = 50 + cos(0.02d0 * i) + cos(0.02d0 * j)
      end do
    end do
    do j = 1, n
      do i = 1, n
        u(i + 1, j) = psi(i, j) - psi(i + 1, j + 1)
        v(i, j + 1) = psi(i + 1, j + 1) - psi(i, j)
      end do
    end do
    uold = u
    vold = v
    pold = p
  end subroutine

  subroutine fluxes
    integer :: i, j
    do j = 1, n
      do i = 1, n
        cu(i + 1, j) = 0.5d0 * (p(i + 1, j) + p(i, j)) * u(i + 1, j)
        cv(i, j + 1) = 0.5d0 * (p(i, j + 1) + p(i, j)) * v(i, j + 1)
        z(i + 1, j + 1) = (v(i + 1, j + 1) - v(i, j + 1) + u(i + 1, j)) / &
                          (p(i, j) + p(i + 1, j + 1))
        h(i, j) = p(i, j) + 0.25d0 * (u(i + 1, j)**2 + v(i, j + 1)**2)
      end do
    end do
  end subroutine

  subroutine advance
    integer :: i, j
    do j = 1, n
      do i = 1, n
        unew(i + 1, j) = uold(i + 1, j) + 1d-3 * (z(i + 1, j + 1) * cv(i, j + 1) - &
                         h(i + 1, j) + h(i, j))
        vnew(i, j + 1) = vold(i, j + 1) - 1d-3 * (z(i + 1, j + 1) * cu(i + 1, j) - &
                         h(i, j) + h(i, j + 1))
        pnew(i, j) = pold(i, j) - 1d-3 * (cu(i + 1, j) - cu(i, j) + cv(i, j + 1) - cv(i, j))
      end do
    end do
  end subroutine

  subroutine smooth
    integer :: i, j
    do j = 1, n
      do i = 1, n
        uold(i, j) = u(i, j) + 1d-3 * (unew(i, j) - 2 * u(i, j) + uold(i, j))
        vold(i, j) = v(i, j) + 1d-3 * (vnew(i, j) - 2 * v(i, j) + vold(i, j))
        pold(i, j) = p(i, j) + 1d-3 * (pnew(i, j) - 2 * p(i, j) + pold(i, j))
        u(i, j) = unew(i, j)
        v(i, j) = vnew(i, j)
        p(i, j) = pnew(i, j)
      end do
    end do
  end subroutine
end module

program swim
  use water
  implicit none
  integer :: step
  call begin
  do step = 1, steps
    call fluxes
    call advance
    call smooth
  end do
  print '(3es16.8)', sum(p), sum(u), sum(v)
end program
