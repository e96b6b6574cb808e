# SPDX-License-Identifier: Apache-2.0
# Completes the words of proftap in fish. `proftap __complete` prints them.

function __proftap_complete
	set -l words (commandline -opc)
	set -l typed (commandline -ct)
	set -l front ""
	# bash splits --sort=p50 into three words, and `proftap __complete` expects them so.
	if string match -q -- '--*=*' $typed
		set front (string replace -r '=.*' '=' -- $typed)
		set -a words (string replace -r '=.*' '' -- $typed) =
		set typed (string replace -r '^[^=]*=' '' -- $typed)
	end
	for line in ($words[1] __complete $words[2..] "$typed" 2>/dev/null)
		switch $line
			case :dirs
				printf '%s\n' $front(__fish_complete_directories "$typed")
			case :files
				# fish completes the words of a command that it does not know to files.
				printf '%s\n' $front(complete -C "__proftap_no_such_command $typed")
			case :commands
				complete -C "$typed"
			case '*'
				# '-' in the name of an option also means '_'. fish drops words that do not begin with the typed one.
				echo "$front$typed"(string sub -s (math (string length -- "$typed") + 1) -- $line)
		end
	end
end

complete -c proftap -f -a '(__proftap_complete)'
