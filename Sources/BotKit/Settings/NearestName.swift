/// Returns the known name that a mistyped one probably means: the one with the fewest edits, if few enough for a typo.
/// Among equally near names it prefers the one with more of the letters, then the one with the same beginning: `nme` is
/// `name`, not `me`.
package func nearestName(to name: String, in known: some Collection<String>) -> String? {
    let best = known.map { Likeness(of: $0, to: name) }.min()
    guard let best, best.distance <= max(1, min(name.count, best.name.count) / 2), best.distance <= 4 else {
        return nil
    }
    return best.name
}

/// The similarity of a known name to a mistyped one; the most similar is the smallest.
private struct Likeness: Comparable {
    let name: String
    let distance: Int
    private let commonLetters: Int
    private let commonBeginning: Int

    init(of name: String, to mistyped: String) {
        let (known, typed) = (name.lowercased(), mistyped.lowercased())
        self.name = name
        distance = editDistance(typed, known)
        var letters: [Character: Int] = [:]
        for letter in typed { letters[letter, default: 0] += 1 }
        commonLetters = known.count { letter in
            letters[letter, default: 0] -= 1
            return letters[letter, default: 0] >= 0
        }
        commonBeginning = zip(typed, known).prefix { $0 == $1 }.count
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.distance, -left.commonLetters, -left.commonBeginning, left.name)
            < (right.distance, -right.commonLetters, -right.commonBeginning, right.name)
    }
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
/// Texts longer than 64 characters count as entirely different.
package func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    guard left.count <= 64, right.count <= 64 else { return max(left.count, right.count) }
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var rows = [Array(0...right.count)]
    for row in 1...left.count {
        var current = [row]
        for column in 1...right.count {
            let replacement = rows[row - 1][column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
            var best = min(rows[row - 1][column] + 1, current[column - 1] + 1, replacement)
            let isSwap =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1]
            if isSwap { best = min(best, rows[row - 2][column - 2] + 1) }
            current.append(best)
        }
        rows.append(current)
    }
    return rows[left.count][right.count]
}
