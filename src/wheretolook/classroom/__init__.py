"""The classroom: a release for students, and marks that can be trusted.

How a notebook is marked, and why in this way:

- **Two processes.** Checkers run here, with the teacher's rights; a student's cells run in one of
  their own (`room`), shut in by the kernel (`room.guard`). Between them goes a pair of sockets that
  carries JSON and plain numbers (`room.wire`). In one kernel, one line of a student's can turn
  any marks into any other; that is why nbgrader's autograder, which runs check cells beside the
  student's, is not used. Its metadata are in the release all the same.
- **The answer is a proxy** (`proxy.Answer`). It looks like a function and builds each result here
  out of plain numbers; gradients go through it, too. So the checkers are the readers' own, with the
  same words, and no object of a student's ever meets them.
- **The student's side may lie**, and gains nothing by it: it holds no solution, no reference and no
  other submission, and only numbers count. There is no package ``wheretolook`` in it, but a dummy
  (`room.dummy`): none of its functions can be handed in. Against copied solutions there are
  variants, for which the public ones are wrong.
- **Only what the student wrote is run**, after the chapter's own imports and definitions: answers
  are found by name. So deleted, doubled, split or moved cells do no harm, edited check cells are
  not looked at, and no model is trained while a class is marked.
- **A failure to run is no 0.** What ends the process (a loop, too much memory, ``os._exit``) costs
  the exercise that did it: a new process goes on with the others. Such an exercise has an empty
  cell, and the status says why.
- **A result is kept as soon as it is known** (`grade`), under the digest of all that it depends on.

``python -m wheretolook.classroom`` does both; how to teach with it stands in ``book/teaching.md``.
"""
