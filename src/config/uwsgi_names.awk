# Turns uwsgi_names.txt into a sorted C array.
BEGIN {
    print "/* Made from uwsgi_names.txt. */"
    print "#include \"config/uwsgi_names.h\"\n"
    print "const struct cc_uwsgi_name cc_uwsgi_names[] = {"
}
/^#/ { next }
{
    letter = $3 == "-" ? "0" : "'" $3 "'"
    printf "    {\"%s\", CC_ARGUMENT_%s, %s},\n", $1, toupper($2), letter
    count++
}
END { printf "};\nconst size_t cc_uwsgi_names_count = %d;\n", count }
