# Prints C files as FILE:LINE:TEXT with comments and the contents of strings taken out, so that a search finds code only.
# Include lines stay as they are.
FNR == 1 { comment = 0 }
!comment && /^[ \t]*#[ \t]*include/ { print FILENAME ":" FNR ":" $0; next }
{
  out = ""
  line = $0
  while (line != "") {
    if (comment) {
      end = index(line, "*/")
      if (end == 0) break
      line = substr(line, end + 2)
      comment = 0
      out = out " "
      continue
    }
    if (!match(line, /\/\*|\/\/|["']/)) {
      out = out line
      break
    }
    out = out substr(line, 1, RSTART - 1)
    found = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    if (found == "//") break
    if (found == "/*") {
      comment = 1
      continue
    }
    # A string or character literal ends at the first such quote that no backslash escapes.
    while (line != "" && substr(line, 1, 1) != found) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
    line = substr(line, 2)
    out = out found found
  }
  print FILENAME ":" FNR ":" out
}
