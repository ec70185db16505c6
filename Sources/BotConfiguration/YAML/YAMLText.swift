import BotDispatch
import BotKit
import Nostr

/// Returns a string as YAML: plain if that parses as the same string, in double quotes otherwise.
func yamlText(_ string: String) -> String {
    let safe = string.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-./".contains($0)) }
    if safe, string.first?.isLetter == true || string.hasPrefix("/") || string.hasPrefix("./"),
        BotSettings(plainScalar: string) == .string(string)
    {
        return string
    }
    var quoted = "\""
    for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case "\n": quoted += "\\n"
        case "\t": quoted += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            quoted += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

func yamlList(_ words: [String]) -> String { "[\(words.map(yamlText).joined(separator: ", "))]" }

/// Returns public keys as npubs, in the order of their bytes.
func yamlList(_ keys: Set<PublicKey>) -> String { yamlList(keys.sorted().map(\.npub)) }

func configurationText(_ range: ClosedRange<Duration>) -> String {
    "\(range.lowerBound.configurationText)..\(range.upperBound.configurationText)"
}

func configurationText(_ rate: Rate?) -> String { rate?.description ?? "unlimited" }
