"""What stands in a student's process, and nothing else of the book.

``nursery`` starts the process, ``guard`` closes it in, ``dummy`` stands where the book's package
would be, ``pupil`` runs the student's cells and calls their functions, ``wire`` carries plain
numbers out. These files know no exercise and no solution; nothing here decides about marks.
"""
