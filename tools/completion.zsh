#compdef weir
# Completion of weir for zsh: weir itself knows its verbs, options and lists.
_weir()
{
    local -a offered
    offered=("${(@f)$(weir internal complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$offered" ]]; then
        compadd -a offered
    else
        _files
    fi
}

# zsh reads this file as the body of the function when it completes for the first time.
if [[ "$funcstack[1]" == _weir ]]; then
    _weir "$@"
else
    compdef _weir weir
fi
