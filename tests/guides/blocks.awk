# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: the varve authors
#
# The blocks of C++ in a page, one after another, with #line for the compiler's messages.
/^```cpp$/ { inside = 1; printf "#line %d \"%s\"\n", FNR + 1, FILENAME; next }
/^```/ { inside = 0 }
inside
