// SPDX-License-Identifier: Apache-2.0
// The object that oshcc links into an executable: names the program's static data, which is then made symmetric before
// main. A program without it keeps its static data to itself.
extern char __data_start[], _end[]; /* set by the linker: the beginning of .data, the end of .bss */
void shmemx_static_data(char *begin, char *end);

__attribute__((constructor(101))) static void shmemi_offer_static_data(void)
{
    shmemx_static_data(__data_start, _end);
}
