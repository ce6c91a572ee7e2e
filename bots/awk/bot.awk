# The example bot: one simple rule for each game. A question is a line of JSON, the answer a number.

/"type":"decision"/ {
    seat = value("seat")
    options = list("legal", legal)
    if (value("game") == "birth") print birth()
    else if (value("game") == "burning-desire") print burning_desire()
    else if (value("game") == "buttons") print buttons()
    else print legal[1 + value("random") % options]
    fflush()
}

# BIRTH: move to where the area is highest.
function birth(    i, s, seats, space, pawn, taken, areas, best, action) {
    seats = value("seats")
    for (s = 0; s < seats; s++) {
        pawn = value("seats." s ".pawn")
        if (s == seat) space = pawn; else taken[pawn]
    }
    list("areas", areas)
    best = -1
    for (i = 1; i <= options; i++) {
        pawn = space
        do pawn = (pawn + legal[i] + 1) % 15; while (pawn in taken)
        if (areas[pawn + 1] > best) { best = areas[pawn + 1]; action = legal[i] }
    }
    return action
}

# Burning Desire: collect ones, score the best role, bank.
function burning_desire(    i, bit, dice, keep, count) {
    if (value("phase") ~ /MULTIPLY$/) return 131
    list("dice", dice)
    bit = 1
    for (i = 1; i <= 6; i++) {
        if (dice[i] == 1) keep += bit
        bit *= 2
        count[dice[i] == 1 ? 1 : dice[i] < 4 ? 2 : 3]++
    }
    return value("phase") ~ /ROLL$/ ? keep + 0 : role(count)
}

function role(count,    i, points, best, action) {
    split("10 25 60 120 250 500", points)
    best = points[count[1]] + 0; action = 128
    split("0 10 20 30 100 180", points)
    if (points[count[2]] + 0 > best) { best = points[count[2]]; action = 129 }
    split("0 5 10 20 30 80", points)
    if (points[count[3]] + 0 > best) action = 130
    return action
}

# Buttons: leave a round with three buttons; put pieces beside own stars.
function buttons(    i, n, cell, cells, rows, columns, near, best, action) {
    if (value("phase") ~ /SIDE$/) return 39
    if (value("phase") ~ /TURN$/) return legal[options] == 37 && list("seats." seat ".buttons", cells) >= 3 ? 37 : 36
    n = list("seats." seat ".stars", cells)
    for (i = 1; i <= n; i++) { rows[int(cells[i] / 6)]++; columns[cells[i] % 6]++ }
    best = -1; action = 38
    for (i = 1; i <= options; i++) {
        cell = legal[i]
        near = rows[int(cell / 6)] > columns[cell % 6] ? rows[int(cell / 6)] : columns[cell % 6]
        if (cell < 36 && near + 0 > best) { best = near + 0; action = cell }
    }
    return action
}

# What the line has under a key: the text up to the next comma, or what stands in the brackets.
function value(key,    at, rest) {
    at = index($0, "\"" key "\":")
    if (!at) return ""
    rest = substr($0, at + length(key) + 3)
    if (rest ~ /^\[/) { sub(/^\[/, "", rest); sub(/\].*/, "", rest) } else sub(/[,}].*/, "", rest)
    gsub(/"/, "", rest)
    return rest
}

# The values of a list, from 1; gives how many.
function list(key, values) { return split(value(key), values, ",") }
