/// A shopping list that is made of recipes, with checked items.
package struct GroceryList: Hashable, Sendable, Codable {
    package struct Item: Hashable, Sendable, Codable {
        package let name: String
        /// In `unit`; the sum over all recipes.
        package fileprivate(set) var quantity: Double
        /// `g`, `ml`, another unit in lower case, or empty for pieces.
        package let unit: String
        package fileprivate(set) var isChecked = false

        fileprivate var key: String { "\(self.name.lowercased())\u{0}\(self.unit)" }

        /// Such as `1.5 kg onions` or `3 eggs`.
        package var text: String {
            let (quantity, unit) =
                switch self.unit {
                case "g" where self.quantity >= 1_000: (self.quantity / 1_000, "kg")
                case "ml" where self.quantity >= 1_000: (self.quantity / 1_000, "l")
                default: (self.quantity, self.unit)
                }
            guard quantity > 0 else { return self.name }
            return [Self.text(of: quantity), unit, self.name].filter { !$0.isEmpty }.joined(separator: " ")
        }

        /// At most two decimals, without trailing zeros.
        private static func text(of quantity: Double) -> String {
            // Quantities are bounded by maximumQuantity, so that the number of hundredths fits.
            let hundredths = Int((quantity * 100).rounded())
            let (whole, rest) = (hundredths / 100, hundredths % 100)
            guard rest > 0 else { return String(whole) }
            let digits = rest < 10 ? "0\(rest)" : rest % 10 == 0 ? String(rest / 10) : String(rest)
            return "\(whole).\(digits)"
        }
    }

    /// Items beyond this number are refused.
    package static let maximumItems = 500
    static let maximumQuantity = 10_000_000.0

    /// In order of their names.
    package private(set) var items: [Item] = []

    package init() {}

    /// Adds the ingredients of a recipe for a number of servings; equal names and units are summed up.
    ///
    /// An item that was checked and grows becomes unchecked. Throws `ApplianceError.Code.malformed` or
    /// `ApplianceError.Code.full`; nothing changes then.
    package mutating func add(_ recipe: Recipe, servings: Int) throws(ApplianceError) {
        try recipe.validate()
        try Bounds.number(servings, 1...100, "servings")
        let factor = Double(servings) / Double(recipe.servings)
        var list = self
        for ingredient in recipe.ingredients {
            let (quantity, unit) = Self.normalized(ingredient.quantity * factor, ingredient.unit)
            list.add(Item(name: ingredient.name, quantity: quantity, unit: unit))
        }
        guard list.items.count <= Self.maximumItems else {
            throw ApplianceError(.full, "the list has \(Self.maximumItems) items; remove some")
        }
        list.items.sort { ($0.name.lowercased(), $0.unit) < ($1.name.lowercased(), $1.unit) }
        self = list
    }

    /// Adds a single item of free text. Throws as ``add(_:servings:)`` does.
    package mutating func add(_ name: String) throws(ApplianceError) {
        try Bounds.text(name, 1...120, "item")
        guard self.items.count < Self.maximumItems else {
            throw ApplianceError(.full, "the list has \(Self.maximumItems) items; remove some")
        }
        self.add(Item(name: name, quantity: 0, unit: ""))
        self.items.sort { ($0.name.lowercased(), $0.unit) < ($1.name.lowercased(), $1.unit) }
    }

    private mutating func add(_ item: Item) {
        guard let index = self.items.firstIndex(where: { $0.key == item.key }) else { return self.items.append(item) }
        self.items[index].quantity = min(Self.maximumQuantity, self.items[index].quantity + item.quantity)
        self.items[index].isChecked = false
    }

    private static func normalized(_ quantity: Double, _ unit: String) -> (quantity: Double, unit: String) {
        let unit = unit.lowercased()
        let (value, base) =
            switch unit {
            case "kg": (quantity * 1_000, "g")
            case "l": (quantity * 1_000, "ml")
            default: (quantity, unit)
            }
        return (max(0, min(Self.maximumQuantity, value)), base)
    }

    /// Checks or unchecks an item by its number in ``items``, from 1. Throws `ApplianceError.Code.notFound`.
    package mutating func setChecked(_ isChecked: Bool, number: Int) throws(ApplianceError) {
        guard (1...max(1, self.items.count)).contains(number), !self.items.isEmpty else {
            throw ApplianceError(.notFound, "no item \(number)")
        }
        self.items[number - 1].isChecked = isChecked
    }

    package mutating func removeChecked() { self.items.removeAll { $0.isChecked } }

    /// One numbered line for each item, with a box that is ticked if it is checked.
    package var checklist: [String] {
        self.items.enumerated().map { index, item in "\(item.isChecked ? "☑" : "☐") \(index + 1). \(item.text)" }
    }
}
