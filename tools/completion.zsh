#compdef weir
# Completion of weir for zsh: weir itself knows its verbs, options and values.
_weir()
{
    local -a offered goes_on whole
    offered=("${(@f)$(weir internal complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z "$offered" ]]; then
        # A value of --name=value is completed without the name.
        [[ ${words[CURRENT]} == --*=* ]] && compset -P '--[^=]#='
        _files
        return
    fi
    # No blank after a key that wants its value, and after a directory.
    goes_on=("${(@M)offered:#*[=/]}")
    whole=("${(@)offered:#*[=/]}")
    (( $#goes_on )) && compadd -S '' -a goes_on
    (( $#whole )) && compadd -a whole
}

# zsh reads this file as the body of the function when it completes for the first time.
if [[ "$funcstack[1]" == _weir ]]; then
    _weir "$@"
else
    compdef _weir weir
fi
