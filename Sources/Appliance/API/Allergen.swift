/// An allergen by its code in the API, such as `peanut`.
///
/// Codes of later versions are kept: an unknown allergen must be shown, not dropped.
package struct Allergen: RawRepresentable, APIValue, Comparable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package func validate() throws(ApplianceError) { try Bounds.identifier(self.rawValue, "allergen", longest: 32) }

    package static func < (left: Allergen, right: Allergen) -> Bool { left.rawValue < right.rawValue }

    package static let gluten = Allergen(rawValue: "gluten")
    package static let milk = Allergen(rawValue: "milk")
    package static let egg = Allergen(rawValue: "egg")
    package static let peanut = Allergen(rawValue: "peanut")
    package static let treeNut = Allergen(rawValue: "tree_nut")
    package static let soy = Allergen(rawValue: "soy")
    package static let fish = Allergen(rawValue: "fish")
    package static let shellfish = Allergen(rawValue: "shellfish")
    package static let sesame = Allergen(rawValue: "sesame")
    package static let mustard = Allergen(rawValue: "mustard")

    /// The allergens that have a name in every language.
    package static let known: [Allergen] = [
        .gluten, .milk, .egg, .peanut, .treeNut, .soy, .fish, .shellfish, .sesame, .mustard,
    ]
}
