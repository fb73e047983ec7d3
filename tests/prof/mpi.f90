! mpi.f90 -- what mpi.c does, from Fortran.
program job
  use mpi
  implicit none
  integer, parameter :: mib = 1048576
  character, allocatable :: buf(:)
  character(len=512) :: name
  integer :: rank, ranks, f, error, total
  integer(kind=mpi_offset_kind) :: at, behind
  integer(kind=8) :: began, now, rate

  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  call get_command_argument(1, name)
  allocate (buf(mib))
  buf = char(iachar('a') + rank)
  at = int(rank, mpi_offset_kind)*mib
  behind = int(ranks, mpi_offset_kind)*mib
  call mpi_file_open(mpi_comm_world, trim(name), mpi_mode_create + mpi_mode_rdwr, mpi_info_null, f, error)
  if (error /= 0) call mpi_abort(mpi_comm_world, 9, error)
  call mpi_file_write_at(f, at, buf, mib, mpi_byte, mpi_status_ignore, error)
  call mpi_file_write_at_all(f, behind + at, buf, mib/8, mpi_double_precision, mpi_status_ignore, error)
  call mpi_file_read_at(f, at, buf, mib/4, mpi_integer, mpi_status_ignore, error)
  call mpi_file_sync(f, error)
  call mpi_file_close(f, error)
  call system_clock(began, rate)
  do while (rank == 0)
    call system_clock(now)
    if (now - began > rate/5) exit
  end do
  call mpi_barrier(mpi_comm_world, error)
  call mpi_allreduce(rank, total, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
  call mpi_finalize(error)
  if (total /= ranks*(ranks - 1)/2 .or. buf(mib) /= char(iachar('a') + rank)) stop 8
end program
