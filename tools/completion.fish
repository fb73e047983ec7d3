# Completion of weir for fish: weir itself knows its verbs, options and values.
function __weir_complete
    set -l before (commandline -opc)
    set -l offered (weir internal complete -- $before[2..-1] (commandline -ct) 2>/dev/null)
    # fish adds no blank after a word that ends in = or /.
    if test (count $offered) -gt 0
        printf '%s\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c weir -f -a '(__weir_complete)'
