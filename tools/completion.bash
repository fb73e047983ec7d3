# Completion of weir for bash: weir itself knows its verbs, options and values.
_weir()
{
    local word words=() offered head
    # bash divides KEY=VALUE at the sign; weir takes it whole.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [ ${#words[@]} -gt 0 ] && { [ "$word" = = ] || [[ ${words[-1]} == *= ]]; }; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[-1]}
    head=
    [[ $word == *=* ]] && head=${word%=*}=
    offered=$(weir internal complete -- "${words[@]}" 2>/dev/null)
    if [ -n "$offered" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
        COMPREPLY=("${COMPREPLY[@]#"$head"}")
        [[ ${COMPREPLY[0]-} == *[=/] ]] && compopt -o nospace 2>/dev/null
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${word#"$head"}")
    fi
    return 0
}
complete -F _weir weir
