package report

// codecs writes which programs of the game a plan needs.
func (t *text) codecs(formats []string) {
	if len(formats) == 0 {
		return
	}
	t.WriteString("\nThe game's own codecs find keys in cells. A command (exec) is run again by apply, verify and undo:\n")
	t.lines(2, formats)
}
